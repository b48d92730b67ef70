export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The first word by which a shell asks for what could come next. */
export const COMPLETE_WORD = '__complete';

/** Each hands the words up to the cursor to the program, and takes a candidate a line. */
export function completionScript(shell: Shell): string {
  switch (shell) {
    case 'bash':
      return `_switchyard() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(switchyard ${COMPLETE_WORD} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _switchyard switchyard
`;
    case 'zsh':
      return `_switchyard() {
  local -a candidates
  candidates=("\${(@f)$(switchyard ${COMPLETE_WORD} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates || _files
}
compdef _switchyard switchyard
`;
    case 'fish':
      return `complete -c switchyard -f -a "(switchyard ${COMPLETE_WORD} (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)"
`;
  }
}
