// Program that runs histories of calls and faults against real gateways until its time is up, and checks the invariants
// of specification section 5.
import { parseArgs } from 'node:util';
import type { Scope } from '../helper/start/scope.ts';
import { torture } from './torture.ts';

const USAGE = `npm run torture -- [options]

  --minutes N   how long to go on (default 5)
  --steps N     steps of a history at most (default 30)
  --seed N      of all histories; a run prints its own
  --path P      one history only: the one that failed
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
      cluster: { type: 'boolean', default: false },
    },
  });
  const [minutes, steps, seed] = [Number(values.minutes), Number(values.steps), Number(values.seed)];
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0');
  if (!(Number.isSafeInteger(steps) && steps > 0)) throw new Error('--steps must be a whole number above 0');
  if (!Number.isSafeInteger(seed)) throw new Error('--seed must be a whole number');
  return { minutes, steps, seed, path: values.path, worlds: values.cluster ? 'cluster' : 'all' } as const;
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
const { minutes, steps, seed, path, worlds } = optionsOrExit();
process.stdout.write(`torture: seed ${seed}, histories of up to ${steps} steps\n`);
let toldAt = Date.now();
const { summary, failure } = await torture(scope, {
  seed,
  path,
  steps,
  worlds,
  forMs: minutes * 60_000,
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
