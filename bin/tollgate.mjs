#!/usr/bin/env node
/**
 * The command `tollgate`. In a clone it goes through the bootstrap, which installs and builds first what is missing; where
 * only the built gateway is, as in the container image, it runs that.
 */
import { existsSync } from 'node:fs';

const bootstrap = new URL('../src/bootstrap.mjs', import.meta.url);
if (existsSync(bootstrap)) {
  process.argv.splice(2, 0, 'tollgate');
  await import(bootstrap.href);
} else {
  await import('../dist/cli.js');
}
