import { number, optional, section } from './reader.ts';

/** The section `calls`: how much is kept of calls that were refused. */
export const callsSection = section({
  refusalsPerMinute: optional(
    number(0, 10_000),
    20,
    'Refused calls of one key and error code with their own entry in a minute; the rest of the minute shares one',
  ),
  refusalDays: optional(number(1, 3_650), 30, 'Days for which refused calls are kept'),
  refusalRows: optional(
    number(1, 100_000_000),
    1_000_000,
    'Most entries of refused calls, of all accounts; the oldest go first',
  ),
});
