// Program that opens the book of a data folder and holds it open: `node hold-book.ts <folder> [leave]`.
import { openBook } from '../../../src/book/open-book.ts';
import { micro } from '../../../src/domain/credits.ts';
import { NOW, newAccount, newKey } from '../fixtures/book-records.ts';

const [, , dataDir = '', leave] = process.argv;
const book = await openBook({ databaseUrl: undefined, dataDir });
const { account } = await book.createAccount(
  newAccount(),
  newKey(),
  { id: 'g', amount: micro(1), note: '' },
  NOW,
);
process.stdout.write(`${account.id}\n`);
// With `leave`, the process ends without closing the book.
if (!leave) process.stdin.resume();
