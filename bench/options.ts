import { parseArgs } from 'node:util';

export interface Options {
  /** Names of the profiles to run; empty: all. */
  readonly profiles: readonly string[];
  /** Length of one measured round, about, in seconds. */
  readonly seconds: number;
  readonly rounds: number;
  readonly streams: number;
  readonly keys: number;
  /** The result as JSON on stdout, the table on stderr. */
  readonly json: boolean;
}

export const USAGE = `npm run bench -- [options]

  --profile NAME   one profile only; may be repeated
  --seconds N      length of one measured round (default 2)
  --quick          one round of a second, 300 streams, 1,000 keys: a smoke test, not a measurement
  --json           the result as JSON on stdout`;

/** Throws Error with a line for the user where the arguments cannot be read. */
export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      profile: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const unknown = values.profile.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no profile ${unknown}; known: ${known.join(', ')}`);
  const seconds = Number(values.seconds ?? (values.quick ? 1 : 2));
  if (!(seconds > 0 && seconds <= 600)) throw new Error('--seconds must be a number above 0, 600 at most');
  return {
    profiles: values.profile,
    seconds,
    rounds: values.quick ? 1 : 3,
    streams: values.quick ? 300 : 1_000,
    keys: values.quick ? 1_000 : 10_000,
    json: values.json,
  };
}
