import type { FastifyReply } from 'fastify';
import type { Pools } from '../../shares/pools.ts';
import type { ExportFormat } from '../openapi/list-answer.ts';
import { sendPages } from './long-answer.ts';

/** Rows that an export reads at a time, which bounds its memory. */
const EXPORT_PAGE = 500;

export interface Export<Row, View extends object, Place> {
  /** Name of the file. */
  readonly name: string;
  readonly format: ExportFormat;
  readonly owner: number;
  /** Most rows. */
  readonly limit: number;
  /** Where the export begins; undefined: with the newest row. */
  readonly before: Place | undefined;
  /** Rows after a place, newest first. */
  read(before: Place | undefined, limit: number): Promise<readonly Row[]>;
  placeOf(row: Row): Place;
  viewOf(row: Row): View;
  csvHeader(): string;
  csvLine(view: View): string;
}

/**
 * Streams an export. Its pages are cut by the place of a row, so that rows written meanwhile, which are newer, do not shift them.
 */
export async function sendExport<Row, View extends object, Place>(
  pools: Pools,
  reply: FastifyReply,
  exported: Export<Row, View, Place>,
): Promise<FastifyReply> {
  const { name, format, owner, limit } = exported;
  const isCsv = format === 'csv';
  const headers = {
    'content-type': isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.${format}"`,
  };
  const lineOf = isCsv ? exported.csvLine : (view: View) => `${JSON.stringify(view)}\n`;
  let head = isCsv ? exported.csvHeader() : '';
  let place = exported.before;
  let left = limit;
  return await sendPages(pools, reply, { owner, isWhole: true, headers }, async () => {
    if (left <= 0) return undefined;
    const rows = await exported.read(place, Math.min(left, EXPORT_PAGE));
    const last = rows.at(-1);
    if (last !== undefined) place = exported.placeOf(last);
    left = last === undefined || rows.length < EXPORT_PAGE ? 0 : left - rows.length;
    const text = head + rows.map((row) => lineOf(exported.viewOf(row))).join('');
    head = '';
    return text;
  });
}
