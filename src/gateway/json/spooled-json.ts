import type { Catalog } from '../../domain/catalog.ts';
import { type JsonBody, JUDGED, judgeJson } from '../body.ts';
import type { Endpoint } from '../endpoints.ts';
import type { Meter } from '../meter/meter.ts';
import type { Spool } from '../upload/spool.ts';
import type { Turns } from '../upload/turns.ts';
import { Upload } from '../upload/upload.ts';
import { condense } from './condense.ts';

/** Check 9 of contract section 3 for JSON that is kept in a file. Throws GatewayError. */
export async function readSpooledJson(
  spool: Spool,
  catalog: Catalog,
  endpoint: Endpoint,
  keepsSamples = false,
): Promise<JsonBody> {
  const condensed = await condense(spool, keepsSamples);
  return judgeJson(new Upload(spool), spool.size, condensed.text, condensed, catalog, endpoint);
}

/** What is kept of such a body once its call has been judged: what it is judged by, less what are objects or lists. */
export function foldedJson(body: JsonBody): JsonBody {
  const scalars = Object.entries(body.value).filter(
    ([name, value]) => JUDGED.has(name) && typeof value !== 'object',
  );
  body.longTexts?.keepOnly(scalars.map(([, value]) => value));
  return { ...body, value: Object.fromEntries(scalars), text: '', spans: new Map(), condensed: undefined };
}

/** The meter for a folded body: where tokens must be estimated, it reads the body from its file once more. */
export function rereadingMeter(endpoint: Endpoint, spool: Spool, turns: Turns): Meter {
  const { meter } = endpoint;
  return {
    ...meter,
    async estimate(folded, written, count, storedTokens) {
      const endTurn = await turns.take(spool.size);
      try {
        const catalog: Catalog = new Map([[folded.model.slug, folded.model]]);
        const body = await readSpooledJson(spool, catalog, endpoint, true);
        const counting = body.longTexts?.counting(count) ?? count;
        return await meter.estimate(body, written, counting, storedTokens);
      } finally {
        endTurn();
      }
    },
  };
}
