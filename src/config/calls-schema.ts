import { number, optional, section } from './reader.ts';

/** The section `calls`: how much is kept of calls that were refused. */
export const callsSection = section({
  refusalsPerMinute: optional(
    number(0, 10_000),
    20,
    'Refused calls of one key and error code that are recorded in a minute, each with an entry of its own; all others of the minute are one more entry',
  ),
  refusalDays: optional(number(1, 3_650), 30, 'Days for which refused calls are kept'),
  refusalRows: optional(
    number(1, 100_000_000),
    1_000_000,
    'Most entries of refused calls that are kept, of all accounts together; the oldest go first',
  ),
});
