import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import type { Share } from '../../shares/fair-pool.ts';
import type { Pools } from '../../shares/pools.ts';
import type { ExportFormat } from './export-formats.ts';

/** Bytes handed to a connection at a time; as much again is buffered. */
const PIECE_BYTES = 64 * 1024;
/** Approximate size of a page of the book as JSON, in bytes. */
const PAGE_BYTES = 1024 * 1024;

/** Owner of the operator's share of pools; account ids start at 1. */
export const OPERATOR = 0;
const STRANGERS = -1;

/** Returns the next page; undefined after the last. Must not retain earlier pages. */
export type NextPage = () => Promise<string | undefined>;

interface LongAnswer {
  /** The requesting account, or `OPERATOR`. */
  readonly owner: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Streams an answer page by page, as fast as the client reads, with one page in memory at a time. Builds the first page
 * before the response starts, so that an unreachable book still returns a clean 503; a later fault breaks the
 * connection. Throws 429 `rate_limit_exceeded` if the owner's answers in progress leave no room for another page.
 */
export async function sendPages(
  { answers }: Pick<Pools, 'answers'>,
  reply: FastifyReply,
  { owner, headers }: LongAnswer,
  next: NextPage,
): Promise<FastifyReply> {
  const share = keepUntilSent(reply, answers.take(owner, PAGE_BYTES));
  let page = bytesOf(await next());
  share.grow(Math.max(PIECE_BYTES, page?.length ?? 0) - PAGE_BYTES);
  const pieces = async function* () {
    while (page) {
      for (let at = 0; at < page.length; at += PIECE_BYTES) yield page.subarray(at, at + PIECE_BYTES);
      page = undefined;
      page = bytesOf(await next());
    }
  };
  reply.headers(headers);
  return reply.send(Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES }));
}

/**
 * Counts whole answers over 64 KiB until they are sent, because clients that don't read them would fill the memory.
 * Beyond the limit, a request gets 429 `rate_limit_exceeded`.
 */
export function boundAnswers(
  app: FastifyInstance,
  { answers }: Pick<Pools, 'answers'>,
  gatekeeper: Gatekeeper,
): void {
  const { ofOne } = answers.bytes;
  const ownerOf = (request: FastifyRequest) =>
    gatekeeper.cached(request)?.key.accountId ??
    (request.url.startsWith('/api/admin/') ? OPERATOR : STRANGERS);
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length <= PIECE_BYTES) {
      done(null, payload);
      return;
    }
    try {
      keepUntilSent(reply, answers.take(ownerOf(request), Math.min(payload.length, ofOne)));
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  });
}

function keepUntilSent(reply: FastifyReply, share: Share | undefined): Share {
  if (!share) {
    const message = 'Too many exports and full lists of this account are running. Try again when one ends.';
    throw new GatewayError('rate_limit_exceeded', message);
  }
  if (reply.raw.destroyed) share.release();
  else reply.raw.once('close', () => share.release());
  return share;
}

function bytesOf(page: string | undefined): Buffer | undefined {
  return page === undefined ? undefined : Buffer.from(page);
}

/** Rows that an export reads and writes at a time: some 5 ms of work, and a bound of its memory. */
const EXPORT_PAGE = 100;

interface Export<Row, View extends object, Place> {
  /** File name. */
  readonly name: string;
  readonly format: ExportFormat;
  readonly owner: number;
  /** Most rows. */
  readonly limit: number;
  /** Where the export starts; undefined: at the newest row. */
  readonly before: Place | undefined;
  /** Rows after a place, newest first. */
  read(before: Place | undefined, limit: number): Promise<readonly Row[]>;
  placeOf(row: Row): Place;
  viewOf(row: Row): View;
  csvHeader(): string;
  csvLine(view: View): string;
}

/**
 * Streams an export. Pages continue from the place of a row, so newer rows written meanwhile don't shift them.
 */
export async function sendExport<Row, View extends object, Place>(
  pools: Pick<Pools, 'answers'>,
  reply: FastifyReply,
  exported: Export<Row, View, Place>,
): Promise<FastifyReply> {
  const { name, format, owner, limit } = exported;
  const isCsv = format === 'csv';
  const headers = {
    'content-type': isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.${format}"`,
    'x-accel-buffering': 'no',
  };
  const lineOf = isCsv ? exported.csvLine : (view: View) => `${JSON.stringify(view)}\n`;
  let head = isCsv ? exported.csvHeader() : '';
  let place = exported.before;
  let left = limit;
  const nextPage = async () => {
    if (left <= 0) return undefined;
    const rows = await exported.read(place, Math.min(left, EXPORT_PAGE));
    const last = rows.at(-1);
    if (last !== undefined) place = exported.placeOf(last);
    left = last === undefined || rows.length < EXPORT_PAGE ? 0 : left - rows.length;
    const text = head + rows.map((row) => lineOf(exported.viewOf(row))).join('');
    head = '';
    // Lets other work run between the pages of several exports.
    await setImmediate();
    return text;
  };
  return await sendPages(pools, reply, { owner, headers }, nextPage);
}
