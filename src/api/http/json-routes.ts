import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import { foldName, invalidJson } from '../../domain/errors.ts';
import { type RootNames, readJson } from '../../gateway/request/json/json-reader.ts';
import { faultIn, notJson } from '../../gateway/request/json/not-json.ts';
import { checkEncoding } from '../../gateway/request/request-head.ts';
import type { FairPool } from '../../shares/fair-pool.ts';

/** Most bytes of a body. Settings are small; a larger body is a mistake and is refused with 413. */
export const BODY_LIMIT_BYTES = 1_048_576;

/** More fields than any body has. A body with more is refused for the first that is unknown, without the others being read. */
const MOST_FIELDS = 64;

/**
 * Sets up a plugin's scope for the JSON of specification sections 2 and 7, whatever the rest of the app reads: every
 * other content type is 415, answers are never cached, and an empty body counts as no body, because many clients send
 * DELETE with a JSON content type and nothing else.
 *
 * Requests are validated by the parse functions of the domain alone, which name the field and say how to fix it.
 * Schemas of routes only describe the bodies in /openapi.json; test/api/documented-bounds.test.ts holds both together.
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

/** Parses a body. Throws 400 `invalid_json`, and 413 `body_too_large` for bodies that would take too long. */
function parseJson(body: Buffer): unknown {
  readJson(body, new NamesOnce());
  try {
    return JSON.parse(body.toString());
  } catch {
    throw notJson(faultIn(body));
  }
}

/** Refuses repeated fields, because JSON.parse keeps the last of them and another reader may keep the first. */
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
