import type {
  Constraint,
  DatedPrices,
  ListModel,
  ListPrices,
  ListProvider,
  Match,
  TieredPrice,
} from './list-data.ts';

/** The data is not a price list; the message says where and why. */
export class NotAList extends Error {}

/**
 * Validates price list data in the format of its project (`data.json`, an array of providers) or of its package:
 * constraints with and without their `type`. Drops descriptions and rules for reading answers. Throws NotAList.
 */
export function readList(data: unknown): ListProvider[] {
  const providers = listOf(data, 'the file').map((one, index) => readProvider(one, `[${index}]`));
  const ids = new Set<string>();
  for (const { id } of providers) {
    if (ids.has(id)) throw new NotAList(`the provider ${id} occurs twice`);
    ids.add(id);
  }
  if (providers.length === 0) throw new NotAList('it has no providers');
  return providers;
}

function readProvider(data: unknown, at: string): ListProvider {
  const given = objectOf(data, at);
  const id = textOf(given.id, `${at}.id`);
  const models = listOf(given.models, `${id}: models`);
  const fallback = given.fallback_model_providers;
  return {
    id,
    models: models.map((model, index) => readModel(model, `${id}: models[${index}]`)),
    ...(given.provider_match === undefined
      ? {}
      : { provider_match: readMatch(given.provider_match, `${id}: provider_match`) }),
    ...(fallback === undefined
      ? {}
      : {
          fallback_model_providers: listOf(fallback, `${id}: fallback_model_providers`).map((name) =>
            textOf(name, `${id}: fallback_model_providers`),
          ),
        }),
  };
}

function readModel(data: unknown, at: string): ListModel {
  const given = objectOf(data, at);
  const id = textOf(given.id, `${at}.id`);
  const name = `${at.split(':')[0]}: ${id}`;
  const window = given.context_window;
  if (window !== undefined && !(Number.isSafeInteger(window) && Number(window) > 0)) {
    throw new NotAList(`${name}: context_window must be a whole number of tokens`);
  }
  return {
    id,
    match: readMatch(given.match, `${name}: match`),
    ...(window === undefined ? {} : { context_window: Number(window) }),
    prices: Array.isArray(given.prices)
      ? readDated(given.prices, `${name}: prices`)
      : readPrices(given.prices, `${name}: prices`),
  };
}

function readDated(data: readonly unknown[], at: string): DatedPrices[] {
  if (data.length === 0) throw new NotAList(`${at} must not be empty`);
  return data.map((one, index) => {
    const given = objectOf(one, `${at}[${index}]`);
    const prices = readPrices(given.prices, `${at}[${index}].prices`);
    return given.constraint === undefined
      ? { prices }
      : { constraint: readConstraint(given.constraint, `${at}[${index}].constraint`), prices };
  });
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;
const FIELDS: Readonly<Record<string, string>> = {
  start_date: 'start_date',
  time_of_date: 'end_time,start_time',
};

/** Reads a constraint. An unknown one is a fault: otherwise its prices would apply at any time. */
function readConstraint(data: unknown, at: string): Constraint {
  const { type, ...given } = objectOf(data, at);
  const fields = Object.keys(given).sort().join();
  if (type === undefined || FIELDS[String(type)] === fields) {
    const { start_date: day, start_time: from, end_time: to } = given;
    if (fields === 'start_date' && isText(day, DAY) && !Number.isNaN(Date.parse(day)))
      return { start_date: day };
    if (fields === 'end_time,start_time' && isText(from, TIME) && isText(to, TIME))
      return { start_time: from, end_time: to };
  }
  throw new NotAList(`${at} must be a start_date, or a start_time and an end_time`);
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function readPrices(data: unknown, at: string): ListPrices {
  const entries = Object.entries(objectOf(data, at)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, readPrice(value, `${at}.${key}`)]));
}

function readPrice(value: unknown, at: string): number | TieredPrice {
  if (isAmount(value)) return value;
  const { base, tiers } = objectOf(value, at, 'must be a price, or a base with tiers');
  const read = listOf(tiers, `${at}.tiers`).map((tier, index) => {
    const { start, price } = objectOf(tier, `${at}.tiers[${index}]`);
    if (!(Number.isSafeInteger(start) && Number(start) >= 0 && isAmount(price)))
      throw new NotAList(`${at}.tiers[${index}] must have a start in tokens and a price`);
    return { start: Number(start), price };
  });
  if (!isAmount(base)) throw new NotAList(`${at}.base must be a price`);
  if (read.some(({ start }, index) => start <= (read[index - 1]?.start ?? -1)))
    throw new NotAList(`${at}.tiers must be by ascending start`);
  return { base, tiers: read };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

const CLAUSES = ['equals', 'starts_with', 'ends_with', 'contains', 'regex'];

function readMatch(data: unknown, at: string): Match {
  const [[name, value] = ['', undefined], ...more] = Object.entries(objectOf(data, at));
  if (more.length === 0 && (name === 'or' || name === 'and')) {
    const parts = listOf(value, `${at}.${name}`).map((one, index) =>
      readMatch(one, `${at}.${name}[${index}]`),
    );
    return name === 'or' ? { or: parts } : { and: parts };
  }
  if (more.length > 0 || !CLAUSES.includes(name) || typeof value !== 'string')
    throw new NotAList(`${at} must be one of or, and, ${CLAUSES.join(', ')}`);
  if (name === 'regex' && !isPattern(value)) throw new NotAList(`${at}.regex is not a regular expression`);
  return { [name]: value } as Match;
}

function isPattern(text: string): boolean {
  try {
    return Boolean(new RegExp(text));
  } catch {
    return false;
  }
}

function objectOf(data: unknown, at: string, right = 'must be an object'): Record<string, unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new NotAList(`${at} ${right}`);
  return data as Record<string, unknown>;
}

function listOf(data: unknown, at: string): unknown[] {
  if (!Array.isArray(data)) throw new NotAList(`${at} must be an array`);
  return data;
}

function textOf(data: unknown, at: string): string {
  if (typeof data !== 'string' || data === '') throw new NotAList(`${at} must be a text`);
  return data;
}
