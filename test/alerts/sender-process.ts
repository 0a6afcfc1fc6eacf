/**
 * A process with one AlertWorker on the book in the folder named by its argument, for tests that kill it. It prints a
 * line once it is ready. The receivers decide at which point it dies.
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
