// Program that runs histories of calls and faults against real gateways for a given time, and checks the invariants of
// specification section 5.
import { parseArgs } from 'node:util';
import type { Scope } from '../helper/start/scope.ts';
import { soak } from './soak/soak.ts';
import { torture } from './torture.ts';

const USAGE = `npm run torture -- [options]

  --minutes N   how long to go on (default 5)
  --steps N     steps of a history at most (default 30)
  --seed N      of all histories; a run prints its own
  --path P      one history only: the one that failed
  --soak N      in place of histories: two providers that die and come back in turn, for N seconds
  --rate N      calls a second of the soak (default 50)
  --cluster     all on a Redis Cluster of three masters, which by default one in eight is`;

const PROGRESS_MS = 30_000;

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '5' },
      steps: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 0x7fffffff)) },
      path: { type: 'string' },
      soak: { type: 'string', default: '0' },
      rate: { type: 'string', default: '50' },
      cluster: { type: 'boolean', default: false },
    },
  });
  const [minutes, steps, seed] = [Number(values.minutes), Number(values.steps), Number(values.seed)];
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0');
  if (!(Number.isSafeInteger(steps) && steps > 0)) throw new Error('--steps must be a whole number above 0');
  if (!Number.isSafeInteger(seed)) throw new Error('--seed must be a whole number');
  const [soakSeconds, perSecond] = [Number(values.soak), Number(values.rate)];
  if (!(soakSeconds >= 0 && perSecond > 0)) throw new Error('--soak and --rate must be numbers above 0');
  return {
    minutes,
    steps,
    seed,
    soakSeconds,
    perSecond,
    path: values.path,
    worlds: values.cluster ? 'cluster' : 'all',
  } as const;
}

function optionsOrExit() {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`torture: ${(error as Error).message}\n\n${USAGE}\n`);
    process.exit(1);
  }
}

const ends: (() => unknown)[] = [];
const scope: Scope = { teardown: (end) => ends.push(end) };
const { minutes, steps, seed, path, worlds, soakSeconds: seconds, perSecond } = optionsOrExit();
if (seconds > 0) {
  const tell = (line: string) => process.stdout.write(`torture: ${line}\n`);
  const { faults, report } = await soak(scope, { seconds, perSecond, tell });
  for (const end of ends.reverse()) await end();
  process.stdout.write(`${[...report, ...faults.slice(0, 20), `${faults.length} faults`].join('\n')}\n`);
  process.exit(faults.length > 0 ? 1 : 0);
}
process.stdout.write(`torture: seed ${seed}, histories of up to ${steps} steps\n`);
let toldAt = Date.now();
const endsAt = toldAt + minutes * 60_000;
const { summary, failure } = await torture(scope, {
  seed,
  path,
  steps,
  worlds,
  goesOn: () => Date.now() < endsAt,
  onHistory({ histories, calls }) {
    if (Date.now() - toldAt < PROGRESS_MS) return;
    toldAt = Date.now();
    process.stdout.write(`torture: ${histories} histories, ${calls} calls\n`);
  },
});
for (const end of ends.reverse()) await end();
process.stdout.write(`${summary.report()}\n`);
if (failure !== undefined) {
  process.stdout.write(`\n${failure}\n`);
  process.exitCode = 1;
}
