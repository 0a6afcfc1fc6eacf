import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends the child with this process, also where that ends without its teardowns. */
export function endWithProcess(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}
