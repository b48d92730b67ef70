/** One of a stream of server-sent events (WHATWG HTML, 9.2). */
export type ReceivedEvent = { readonly id: string; readonly event: string; readonly data: string };

/** Takes the text of a stream in pieces of any size, and gives the events that are whole by then. */
export function createEventReader(): (piece: string) => ReceivedEvent[] {
  let rest = '';
  return (piece) => {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    return blocks.flatMap(eventOf);
  };
}

/** None where there is no data: comments keep the connection alive. */
function eventOf(block: string): ReceivedEvent[] {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== '') fields.set(name, name === 'data' && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  return data === undefined ? [] : [{ id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data }];
}
