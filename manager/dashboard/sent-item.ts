import type { JobLine, SentItem, OverviewItem } from './views.ts';

/** The Jobs that an item lists. */
export function linesOf(item: OverviewItem): readonly JobLine[] {
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

/**
 * The item as sent: with the keys of its Jobs in place of their lines. A change of a Job is thus sent as one line, wherever the Job is
 * listed.
 */
export function sentItem(item: OverviewItem): SentItem {
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

/** The item from its sent form, with the lines of Jobs sent before or with it; a Job without a line is left out. */
export function receivedItem(item: SentItem, lineOf: (key: string) => JobLine | undefined): OverviewItem {
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
