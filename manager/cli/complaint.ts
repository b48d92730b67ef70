/** What the library says about a command line that it cannot read, with the remedy, in one line. */
export function complaintOf(message: string, program: string): string {
  const [first = '', guess] = message.replace(/^error: /, '').split('\n');
  const remedy =
    guess === undefined ? `${program} --help lists what there is` : `did you mean ${guess.replace(/^\(Did you mean (.*)\?\)$/, '$1')}?`;
  return `${first.replace(/\.$/, '').replaceAll("'", '"')}; ${remedy}`;
}
