/**
 * What a submission is known by for good: its BullMQ id, when its submitter chose it, whatever it contains. Ids that BullMQ counted are all
 * digits and start over when a queue is wiped, so the time is part of their key.
 */
export const submissionKey = ({ id, submittedAt }: { readonly id: string; readonly submittedAt: number }): string =>
  /^\d+$/.test(id) ? `${id}@${submittedAt}` : id;
