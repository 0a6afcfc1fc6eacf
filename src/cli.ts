import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// As in main.ts; the rest is imported dynamically, because static imports are loaded before this line runs.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
const { PROCESS_IO } = await import('./cli/io.ts');
const { runCommand } = await import('./cli/run.ts');

// Entry of the `tollgate` command, started by bin/tollgate.mjs.

// `| head` closes the pipe after enough lines; not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.exitCode = await runCommand(process.argv.slice(2), PROCESS_IO);
