import type { JobLine, SentItem, YardItem } from './views.ts';

/** The Jobs that an item lists. */
export function linesOf(item: YardItem): readonly JobLine[] {
  switch (item.kind) {
    case 'Cluster':
      return item.running;
    case 'Queue':
    case 'LocalQueue':
      return item.first;
    case 'Ended':
      return item.jobs;
    case 'Cohort':
    case 'Totals':
      return [];
  }
}

/** The item as it is sent: with the names of these Jobs. What becomes of one of them then is one line, wherever it is listed. */
export function sentItem(item: YardItem): SentItem {
  const keys = linesOf(item).map(({ key }) => key);
  switch (item.kind) {
    case 'Cluster':
      return { ...item, running: keys };
    case 'Queue':
    case 'LocalQueue':
      return { ...item, first: keys };
    case 'Ended':
      return { ...item, jobs: keys };
    case 'Cohort':
    case 'Totals':
      return item;
  }
}

/** The item that was sent, from lines of Jobs that have been sent before or with it; one that has not is left out. */
export function receivedItem(item: SentItem, lineOf: (key: string) => JobLine | undefined): YardItem {
  const lines = (keys: readonly string[]): readonly JobLine[] => keys.flatMap((key) => lineOf(key) ?? []);
  switch (item.kind) {
    case 'Cluster':
      return { ...item, running: lines(item.running) };
    case 'Queue':
    case 'LocalQueue':
      return { ...item, first: lines(item.first) };
    case 'Ended':
      return { ...item, jobs: lines(item.jobs) };
    case 'Cohort':
    case 'Totals':
      return item;
  }
}
