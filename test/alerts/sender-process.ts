/**
 * A process with one AlertWorker on the book in the folder that its argument names, for tests that kill it: once it
 * is ready it prints a line. Its receivers decide where it is when it dies.
 */
import { AlertWorker } from '../../src/alerts/alert-worker.ts';
import { openBook } from '../../src/book/open-book.ts';
import { permitsOf } from './alert-book.ts';

const [, , dataDir = ''] = process.argv;
const book = await openBook({ dataDir, databaseUrl: undefined });
const log = { debug() {}, info() {}, warn() {}, error() {} };
const permits = permitsOf(4);
new AlertWorker({ book, timeoutMs: 60_000, allowPrivateNetworks: true, log, permits }).start();
console.log('started');
