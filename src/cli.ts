import { enter } from './entry.ts';

enter();

/** Entry of the `tollgate` command, started by bin/tollgate.mjs. Imports the rest dynamically, as main.ts does. */
const { PROCESS_IO } = await import('./cli/io.ts');
const { runCommand } = await import('./cli/run.ts');

// `| head` closes the pipe after enough lines; not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.exitCode = await runCommand(process.argv.slice(2), PROCESS_IO);
