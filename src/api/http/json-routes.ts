import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import { foldName, invalidJson } from '../../domain/errors.ts';
import { type RootNames, readJson } from '../../gateway/request/json/json-reader.ts';
import { NotJson } from '../../gateway/request/json/not-json.ts';
import { checkEncoding } from '../../gateway/request/request-head.ts';
import type { Pools } from '../../shares/pools.ts';
import { OPERATOR } from './long-answer.ts';

/** Maximum body size. Settings are small; a larger body is a mistake and gets 413. */
export const BODY_LIMIT_BYTES = 1_048_576;

/** More fields than any valid body has. Beyond it, parsing stops and the first unknown field is refused. */
const MOST_FIELDS = 64;

/**
 * Sets up a plugin's scope for the JSON of specification sections 2 and 7, independent of the rest of the app. Other
 * content types get 415, and responses are never cached. An empty body counts as no body, because many clients send
 * DELETE with a JSON content type and nothing else.
 *
 * Only shapes (domain/shape.ts) validate requests: they name the field and say how to fix it. Fastify gets their
 * schemas for /openapi.json alone.
 */
export function speakJson(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
    async (request: FastifyRequest, body: Buffer) => {
      checkEncoding(request.headers);
      return body.length === 0 ? undefined : parseJson(body);
    },
  );
}

/** Parses a body. Throws 400 `invalid_json`, and 413 `body_too_large` for bodies that take too long to parse. */
function parseJson(body: Buffer): unknown {
  readJson(body, new NamesOnce());
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new NotJson(body);
  }
}

/** Refuses repeated fields: JSON.parse keeps the last one, another parser may keep the first. */
class NamesOnce implements RootNames {
  readonly #seen = new Set<string>();

  take(name: string): boolean {
    if (this.#seen.size >= MOST_FIELDS) return false;
    const folded = foldName(name);
    if (this.#seen.has(folded)) {
      throw invalidJson(
        `The request body has the field "${folded.slice(0, 100)}" more than once. Send it once.`,
        folded,
      );
    }
    this.#seen.add(folded);
    return false;
  }
}

/**
 * Wraps the book so that owners take turns. Each account runs two at a time of its writes and its queries of entries,
 * calls or sums, so an account with many connections delays others by two of its own. Reads of single rows don't queue.
 */
export function withFairTurns(book: Book, { book: turns }: Pools): Book {
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
    updateMember: inTurn(book.updateMember),
    removeMember: inTurn(book.removeMember),
    createInvitation: inTurn(book.createInvitation),
    withdrawInvitation: inTurn(book.withdrawInvitation),
    createTestAlert: inTurn(book.createTestAlert),
    calls: (query) => turns.run(query.accountId ?? OPERATOR, () => book.calls(query)),
    ledger: (query) => turns.run(query.accountId, () => book.ledger(query)),
    usage: (accountId, ...args) => turns.run(accountId, () => book.usage(accountId, ...args)),
    async *usageBy(query) {
      const rows = book.usageBy(query)[Symbol.asyncIterator]();
      for (;;) {
        const { done, value } = await turns.run(query.accountId ?? OPERATOR, () => rows.next());
        if (done) return;
        yield value;
      }
    },
  };
}
