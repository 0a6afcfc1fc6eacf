import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { billOf } from '../../src/domain/bill.ts';
import type { Model } from '../../src/domain/catalog.ts';
import { UNIT_NAMES, unitRow } from '../../src/domain/units.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { JsonSieve } from '../../src/metering/json/sieve.ts';
import { ANSWER_SHAPE, type Meter, type ParsedRequest, type StreamMeter } from '../../src/metering/meter.ts';
import { sifted } from '../../src/metering/sse/event.ts';
import { EventReader } from '../../src/metering/sse/event-reader.ts';
import { eventTexts } from '../helper/fixtures/answer-shapes.ts';
import { everyModel, microsOf } from '../helper/fixtures/every-price.ts';
import { SDKS, VENDOR_ANSWERS, type VendorAnswer } from '../helper/fixtures/vendor-answers.ts';

const MODELS = everyModel('http://127.0.0.1');
const PIECE = 1_000;

function meterOf({ path }: VendorAnswer): Meter {
  const endpoint = ENDPOINTS.find((one) => one.path === path);
  if (!endpoint) throw new Error(`no endpoint ${path}`);
  return endpoint.meter;
}

function bodyOf({ model, body }: VendorAnswer): ParsedRequest {
  return {
    kind: 'json',
    model: MODELS.get(model) as Model,
    value: { model, ...body },
    scalars: { model, ...body },
    isStream: false,
    textBytes: 100,
    files: 0,
    audio: { seconds: 2, how: 'measured', bytes: 32_044 },
    elidedStrings: undefined,
    hints: undefined,
  };
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** What the gateway keeps of an answer that is too large to hold. */
function sieved(answer: unknown): unknown {
  const sieve = new JsonSieve(ANSWER_SHAPE);
  const text = latin1(JSON.stringify(answer));
  for (let at = 0; at < text.length; at += PIECE) sieve.push(text.slice(at, at + PIECE));
  return sieve.value;
}

type Read = Pick<StreamMeter, 'usage' | 'terms' | 'isEstimated' | 'failed'>;

/** What the meter reads, in the form of the table. */
const readOf = ({ usage, terms = {}, isEstimated = false, failed = false }: Read) => ({
  usage,
  tiers: terms.serviceTiers,
  passes: terms.passes,
  isUnbilled: terms.isUnbilled ?? false,
  isEstimated,
  failed,
});

function expected({ usage, tiers, passes, isUnbilled, isEstimated, isFailed }: VendorAnswer) {
  const terms = { serviceTiers: tiers, passes, isUnbilled };
  return readOf({ usage, terms, ...(isEstimated && { isEstimated }), ...(isFailed && { failed: true }) });
}

test('the SDKs that the table names are those installed', async (t) => {
  for (const [name, version] of Object.entries(SDKS)) {
    const url = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
    t.equal(JSON.parse(readFileSync(url, 'utf8')).version, version, name);
  }
});

test('every unit of tokens and searches has an answer that reports it', async (t) => {
  const reported = new Set(VENDOR_ANSWERS.flatMap(({ usage }) => Object.keys(usage)));
  for (const unit of UNIT_NAMES) {
    const { usage, tokens, per } = unitRow(unit);
    if (tokens !== null || per === 1_000) t.ok(reported.has(usage), unit);
  }
});

for (const row of VENDOR_ANSWERS) {
  const { what, from, path, json, events, times } = row;
  test(`${path}: ${what} (${from})`, async (t) => {
    const [meter, unread] = [meterOf(row), bodyOf(row)];
    const body = { ...unread, hints: meter.plan(unread).hints };
    const { model } = body;
    const check = (read: Read, how: string) => {
      t.same(readOf(read), expected(row), how);
      const { charge } = billOf(model, read.usage ?? {}, [], read.terms ?? {});
      t.equal(charge, row.micros ?? microsOf({ ...row.usage, requests: 1 }, times), how);
    };
    if (json) {
      // An answer without content is never too large to hold.
      for (const answer of row.isUnbilled ? [json] : [json, sieved(json)]) {
        const read: Read = {
          usage: meter.usage(answer, body),
          terms: meter.terms?.(answer, body),
          isEstimated: meter.isEstimated?.(answer) ?? false,
          failed: meter.failed?.(answer) ?? false,
        };
        check(read, answer === json ? 'whole' : 'sieved');
      }
    }
    if (events) {
      const stream = meter.stream(false, body);
      const reader = new EventReader(stream);
      reader.push(Buffer.from(eventTexts(events).join('')));
      while (reader.next() !== undefined);
      check(stream, 'streamed');
      const large = meter.stream(false, body);
      for (const event of eventTexts(events)) {
        // Anthropic's event with the last counts has no part that can be large.
        const isSmall = event.includes('message_delta');
        large.event(isSmall ? latin1(event) : sifted(latin1(event), large.kept));
      }
      check(large, 'streamed in events too large to be held');
    }
  });
}
