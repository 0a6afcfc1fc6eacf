/** The load tests (specification section 9). README.md says how to read what they print. */
import { drawChart } from './chart.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { ONLY_BY_NAME, PROFILES } from './profiles.ts';
import { interruptPrograms } from './program.ts';
import { type ProfileReport, printable, resultOf, type Skipped, store } from './report.ts';

function optionsOrExit(): Options {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  try {
    return readOptions(process.argv.slice(2), [...PROFILES.keys()]);
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n\n${USAGE}\n`);
    process.exit(1);
  }
}

const options = optionsOrExit();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interruptPrograms();
    // A second signal ends the program immediately.
    process.once(signal, () => process.exit(130));
  });
}
const table = options.json ? process.stderr : process.stdout;
const reports: (ProfileReport | Skipped)[] = [];
for (const [name, run] of PROFILES) {
  const isWanted = options.profiles.length > 0 ? options.profiles.includes(name) : !ONLY_BY_NAME.has(name);
  if (!isWanted) continue;
  process.stderr.write(`bench: ${name} …\n`);
  const start = performance.now();
  const report = await run(options).catch((error: Error) => {
    process.stderr.write(`bench: ${name} failed. ${error.message}\n`);
    process.exit(1);
  });
  reports.push(report);
  table.write(printable(report));
  process.stderr.write(`bench: ${name} took ${Math.round((performance.now() - start) / 1000)} s\n`);
}
const result = resultOf(reports, options);
const path = store(result);
if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
process.stderr.write(`bench: written to ${path}\n`);
const chart = options.profiles.length === 0 && !options.quick ? drawChart(result) : undefined;
if (chart !== undefined) process.stderr.write(`bench: drawn as ${chart}\n`);
const broken = reports
  .flatMap((report) => ('checks' in report ? report.checks : []))
  .filter(({ holds }) => !holds);
if (broken.length > 0) {
  process.stderr.write(`bench: ${broken.length} invariants are broken, see above\n`);
  process.exit(1);
}
