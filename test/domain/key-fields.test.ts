import { test } from 'tap';
import { KEY_FIELDS, type KeyField } from '../../src/domain/key-fields.ts';
import { KEY_FIELD_NAMES, keyField, SHORT_FIELDS_BYTES } from '../../src/domain/key-settings.ts';
import { LIMIT_PERIODS } from '../../src/domain/limit-periods.ts';
import { readValue } from '../../src/domain/shape.ts';

test('names are of one field each', async (t) => {
  const rows = KEY_FIELD_NAMES.map(keyField);
  const flags = rows.flatMap(({ option }) => (option ? [option.flag] : []));
  for (const names of [rows.map(({ wire }) => wire), rows.map(({ label }) => label), flags])
    t.same(names, [...new Set(names)]);
});

test('a default is a value that its reader gives, and no default restricts', async (t) => {
  for (const field of KEY_FIELD_NAMES) {
    const { wire, type, fallback, restricts } = keyField(field);
    if (fallback === undefined) continue;
    t.same(readValue(type, fallback, wire), fallback, wire);
    if (restricts) t.ok(fallback === null || (fallback as string | unknown[]).length === 0, wire);
  }
});

type ShortField = { [F in KeyField]: (typeof KEY_FIELDS)[F]['isLong'] extends true ? never : F }[KeyField];

/** The longest value of each field whose length is not counted, as the API has it. */
const LONGEST: Readonly<Record<ShortField, unknown>> = {
  isActive: false,
  canManage: false,
  expiresAt: -8_640_000_000_000_000,
  allowedCategories: ['text', 'image', 'tts', 'stt', 'video'],
  spendingLimit: 8_500_000_000_123_456,
  spendingPeriod: 'monthly',
  spendingLimits: LIMIT_PERIODS.map((period) => ({ period, credits: 8_500_000_000.123_456 })),
  rpmLimit: 100_000_000_000,
  tpmLimit: 100_000_000_000,
  maxParallelRequests: 100_000_000_000,
  activeHours: '00:00-24:00',
  restrictionsLocked: false,
};

test('fields whose length is not counted never exceed their assumed length', async (t) => {
  const body = Object.entries(LONGEST).map(([field, value]) => [KEY_FIELDS[field as ShortField].wire, value]);
  const bytes = JSON.stringify(Object.fromEntries(body)).length;
  t.ok(bytes <= SHORT_FIELDS_BYTES, `${bytes} bytes`);
});
