import { enter } from './entry.ts';

enter();

/** Entry of the `tollgate` command, started by bin/tollgate.mjs. Imports the rest dynamically, as main.ts does. */
const { runCommand } = await import('./cli/run.ts');
await runCommand(process.argv.slice(2));
