/** A server-sent event as it goes over the line (WHATWG HTML, 9.2). No part of it may have a line end: JSON has none. */
export const eventFrame = (id: string, event: string, data: string): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
