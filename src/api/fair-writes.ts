import type { Book } from '../book/book.ts';
import type { FairPool } from '../shares/fair-pool.ts';

/**
 * The book with the writes of owners in turn: of each account one is in the database at once, so that an account that
 * writes over many connections makes others wait for one of its transactions, not for all. Reads pass, and so do other
 * writes.
 */
export function withFairWrites(book: Book, turns: FairPool): Book {
  const inTurn =
    <Args extends unknown[], Result>(write: (accountId: number, ...args: Args) => Promise<Result>) =>
    (accountId: number, ...args: Args): Promise<Result> =>
      turns.run(accountId, () => write(accountId, ...args));
  return {
    ...book,
    createKey: inTurn(book.createKey),
    updateKey: inTurn(book.updateKey),
    rotateKey: inTurn(book.rotateKey),
    endGrace: inTurn(book.endGrace),
    updateAccount: inTurn(book.updateAccount),
    createTestAlert: inTurn(book.createTestAlert),
  };
}
