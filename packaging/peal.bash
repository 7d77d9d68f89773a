# SPDX-License-Identifier: Apache-2.0
# Completion of peal, peald and peal-sim for bash. It asks the program itself, so that it knows the
# commands and options which that one has; where no option is typed, it completes files.

_peal() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} found
  local -a help=(--help)
  COMPREPLY=()
  if [[ ${program##*/} == peal ]]; then
    if [[ $COMP_CWORD -eq 1 ]]; then
      found=$("$program" help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +.*/\1/p')
      mapfile -t COMPREPLY < <(compgen -W "$found help" -- "$current")
      return
    fi
    help=("${COMP_WORDS[1]}" --help)
    if [[ ${COMP_WORDS[1]} == bench ]]; then
      found=$'limit\nclients\nfailover'
      if [[ $COMP_CWORD -eq 2 && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$found" -- "$current")
        return
      fi
      [[ $found != *"${COMP_WORDS[2]}"* ]] || help=(bench "${COMP_WORDS[2]}" --help)
    fi
  fi
  if [[ $current == -* ]]; then
    found=$("$program" "${help[@]}" 2>/dev/null | sed -nE 's/^  (-h,)?(--[a-z0-9-]+).*/\2/p')
    mapfile -t COMPREPLY < <(compgen -W "$found" -- "$current")
  fi
}

complete -o default -F _peal peal peald peal-sim
