import type { FastifyRequest } from 'fastify';
import type { Catalog } from '../domain/catalog.ts';
import type { Bounds } from '../metering/bounds.ts';
import { inMemory } from '../metering/byte-source.ts';
import { tokensOfSounds } from '../metering/media.ts';
import { checkMembers } from '../metering/members.ts';
import { NONE } from '../metering/plan.ts';
import { encryptedIds } from '../metering/reasoning.ts';
import type { Pools } from '../shares/pools.ts';
import type { Call, ReadCall, RequestedModel } from './call.ts';
import { type Findings, plansOf } from './plan.ts';
import { checkJsonBody, factsOf, isJson, nameIn, readJsonBody } from './request/call-body.ts';
import { largeReadsOf } from './request/call-memory.ts';
import { readFormBody } from './request/form/form-body.ts';
import { inOwnTurn } from './request/json/heavy-step.ts';
import { type ReadJson, readJsonInPieces } from './request/json/json-reader.ts';
import { countOnce, inputTokensOf } from './request/json/rereading.ts';
import { InspectedNames } from './request/members.ts';
import { checkEncoding } from './request/request-head.ts';
import { Spool, Upload } from './request/spool/spool.ts';
import { referencedIds } from './resources/referenced-ids.ts';
import { upstreamJson } from './upstream/body.ts';
import type { StreamUsage } from './upstream/stream-usage.ts';

export interface ReadParts {
  readonly catalog: () => Catalog;
  readonly bounds: Bounds;
  readonly pools: Pools;
  readonly streamUsage: StreamUsage;
}

type Read = [ReadCall, Findings];

/**
 * Step 2 of the pipeline, check 9: one parse, one scan, no copy. Afterwards only the bytes to send and a few scalars of
 * the request stay in memory. Rejects with the GatewayError for a request that can't be read or metered.
 */
export async function readRequest(request: FastifyRequest, call: Call, parts: ReadParts): Promise<Read> {
  const { body } = request;
  checkEncoding(request.headers);
  const spool = body instanceof Spool ? body : undefined;
  const readLarge = largeReadsOf(parts.pools, call.compiled.key.accountId);
  if (!isJson(request, call.endpoint)) {
    const read = () => readForm(request, call, parts);
    return spool ? await readLarge(spool.size, read) : await read();
  }
  if (spool)
    return await readLarge(spool.size, async () => {
      const read = await readJsonInPieces(spool, new InspectedNames());
      return await readJson(request, call, read, parts, spool);
    });
  const read = readJsonBody(body);
  if (!read.isHeavy) return await readJson(request, call, read, parts);
  // A body of very many parts takes as much memory as a large one.
  return await readLarge(read.size, () => readJson(request, call, read, parts));
}

async function readForm(request: FastifyRequest, call: Call, { catalog }: ReadParts): Promise<Read> {
  const { meter, members } = call.endpoint;
  const type = request.headers['content-type'];
  const { body, sent } = await readFormBody(request.body, type, catalog(), call, (value, isStream) => {
    call.requested = requestedIn(value, isStream, call);
  });
  const found = members && checkMembers(body, members);
  const plans = plansOf(body, meter);
  // The form was rebuilt while it was read, so that it is not in memory twice.
  request.body = undefined;
  const inputTokens = () => meter.inputTokens(body);
  const read = Object.assign(call, { facts: body, body: sent, sent, inputTokens });
  return [read, { ...plans, members: found, named: referencedIds(body.value) }];
}

async function readJson(
  request: FastifyRequest,
  call: Call,
  json: ReadJson,
  { catalog, bounds, streamUsage }: ReadParts,
  spool?: Spool,
): Promise<Read> {
  const { meter, members, asksForUsage } = call.endpoint;
  // Each step below takes some 10 ms for a body of very many parts.
  const step = json.isHeavy ? inOwnTurn : atOnce;
  const value = await step(() => json.parse());
  call.requested = requestedIn(value, value.stream === true, call);
  const bytes = spool ? new Upload(spool) : (request.body as Buffer);
  const body = checkJsonBody(json, value, catalog(), call);
  const found = members && (await step(() => checkMembers(body, members)));
  const { plans, sent } = await step(() => {
    const made = plansOf(body, meter);
    const { sets = NONE } = made.plan;
    const asks = asksForUsage && body.isStream && streamUsage.asksAny(body.model);
    return { plans: made, sent: upstreamJson(body, bytes, json, { asksForUsage: asks, sets, bounds }) };
  });
  const { plan, others } = plans;
  const named = await step(() => referencedIds(value));
  const encrypted = others ? encryptedIds(value.input, body.elidedStrings) : NONE;
  const { sounds = NONE } = plan;
  const source = spool ?? inMemory(bytes as Buffer);
  const soundTokens = sounds.length > 0 ? await tokensOfSounds(sounds, body, source) : undefined;
  // `sent` goes upstream; release the original upload.
  request.body = undefined;
  const isLarge = spool !== undefined || json.isHeavy;
  const counted = isLarge ? await step(() => countOnce(meter, body, json)) : (sent.bytes as Buffer);
  const facts = factsOf(body, plan.hints);
  const inputTokens = inputTokensOf(meter, facts, counted);
  const read = Object.assign(call, { facts, body: sent, sent, inputTokens });
  return [read, { ...plans, members: found, named, encrypted, soundTokens }];
}

function requestedIn(
  value: Readonly<Record<string, unknown>>,
  isStream: boolean,
  call: Pick<Call, 'deployment'>,
): RequestedModel {
  const model = nameIn(value, call);
  return { model: typeof model === 'string' ? model : null, isStream };
}

const atOnce: typeof inOwnTurn = async (work) => work();
