import t from 'tap';
import { ApiFailure } from '../../src/dashboard/page/data/api-failure.ts';
import { exactly, rounded } from '../../src/dashboard/page/format/amount.ts';
import { callLimitWords, restrictionWords } from '../../src/dashboard/page/format/call-limits.ts';
import { COUNTRIES, countryCode, countryName } from '../../src/dashboard/page/format/countries.ts';
import { callsInWords, credits, isGain } from '../../src/dashboard/page/format/credits.ts';
import { callDuration } from '../../src/dashboard/page/format/duration.ts';
import { readAmount } from '../../src/dashboard/page/format/read-amount.ts';
import { readWhole } from '../../src/dashboard/page/format/read-whole.ts';
import { dayName, fromLocalInput, moment, toLocalInput } from '../../src/dashboard/page/format/time.ts';
import { priceWords, shortUsage, usageWords } from '../../src/dashboard/page/format/usage.ts';
import { thisPeriod } from '../../src/dashboard/page/format/words.ts';

/** The message and field of the failure that `read` throws. */
function refusal(read: () => unknown): readonly [message: string, param: string | null] | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    return [error.message, error.param];
  }
}

t.test('figures are rounded half up to two decimals, small ones to two digits', async (t) => {
  for (const [amount, words] of [
    ['0.125', '0.13'],
    ['0.124999', '0.12'],
    ['1.005', '1.01'],
    ['-0.125', '−0.13'],
    ['2.675', '2.68'],
    [1_234.5, '1,234.50'],
    ['0', '0.00'],
    ['0.000000', '0.00'],
    ['0.01', '0.01'],
    ['0.009999', '0.01'],
    ['0.00125', '0.0013'],
    ['0.00124', '0.0012'],
    ['-0.000001', '−0.000001'],
    ['8500000000.995', '8,500,000,001.00'],
  ] as const) {
    t.equal(rounded(amount), words, `${amount}`);
  }
});

t.test('an exact amount keeps each of its digits', async (t) => {
  t.equal(exactly('1234.50025'), '1,234.50025 credits');
  t.equal(credits('8500000000.123456'), '8,500,000,000.123456', 'more digits than a float has');
  t.equal(credits(5), '5.00');
  t.equal(credits('-1.5'), '−1.50');
});

t.test('only an amount above nothing is a gain', async (t) => {
  t.same(['5.000000', '0.000001', '0.000000', '-0.000001'].map(isGain), [true, true, false, false]);
});

t.test('calls, times and usage have words', async (t) => {
  t.same([0, 1, 1_000].map(callsInWords), ['0 calls', '1 call', '1,000 calls']);
  t.same([412, 999, 1_000, 4_754, 9_999, 12_500].map(callDuration), [
    '412 ms',
    '999 ms',
    '1.00 s',
    '4.75 s',
    '10.00 s',
    '12.5 s',
  ]);
  const usage = { requests: 1, input_tokens: 1, output_tokens: 26, cached_input_tokens: 0, web_searches: 1 };
  t.equal(usageWords(usage), '1 request, 1 input token, 26 output tokens, 1 web search');
  t.equal(shortUsage(usage), '1 input, 26 output, 1 web search');
  t.equal(priceWords('input', 1.5), '1.50 per 1,000,000 input tokens');
  t.equal(priceWords('later', 2), '2.00 per later', 'a unit of a newer gateway');
  t.equal(thisPeriod('weekly'), 'this week');
  t.equal(thisPeriod('later'), 'in this period');
});

t.test('a restriction has words if it is set', async (t) => {
  t.same(restrictionWords('allowed_ips', ['10.0.0.1', '10.0.0.2']), ['2 IPs']);
  t.same(restrictionWords('allowed_ips', ['10.0.0.1']), ['1 IP']);
  t.same(restrictionWords('allowed_ips', []), []);
  t.same(restrictionWords('spending_limit', null), []);
  t.same(restrictionWords('name', 'Name'), [], 'a name restricts nothing');
  const limits = { rpm_limit: 60, tpm_limit: 100_000, max_parallel_requests: 1 };
  t.same(callLimitWords(limits), ['60 requests a minute', '100,000 tokens a minute', '1 call at once']);
  t.same(callLimitWords({ ...limits, rpm_limit: null, tpm_limit: null }), ['1 call at once']);
});

t.test('countries are found by their usual names and codes', async (t) => {
  for (const [name, code] of Object.entries({
    UK: 'GB',
    'Great Britain': 'GB',
    England: 'GB',
    USA: 'US',
    'U.S.A.': 'US',
    'United States of America': 'US',
    Turkey: 'TR',
    türkiye: 'TR',
    'Czech Republic': 'CZ',
    'Ivory Coast': 'CI',
    'Côte d’Ivoire': 'CI',
    "Cote d'Ivoire": 'CI',
    Holland: 'NL',
    'The Netherlands': 'NL',
    'South Korea': 'KR',
    Burma: 'MM',
    DEU: 'DE',
    fra: 'FR',
    ' at ': 'AT',
  })) {
    t.equal(countryCode(name), code, name);
  }
  t.equal(countryCode('Atlantis'), undefined);
  t.same(
    COUNTRIES.filter(({ code, name }) => countryCode(name) !== code || countryCode(code) !== code),
    [],
    'each by its own name and code',
  );
  t.equal(countryName('DE'), 'Germany');
});

t.test('amounts are read as they are typed', async (t) => {
  for (const [typed, amount] of [
    ['5', 5],
    [' 12.50 ', 12.5],
    ['0', 0],
    ['0.000001', 0.000_001],
    ['8500000000', 8_500_000_000],
  ] as const) {
    t.equal(readAmount('The limit', typed, 'spending_limit'), amount);
  }
  t.equal(readAmount('The amount', '−1.35', 'amount', -10), -1.35, 'with a typographic minus');
});

t.test('an amount in another notation is refused with a correct example', async (t) => {
  for (const [typed, words] of Object.entries({
    '1,5': 'written with a decimal point and no thousands separator: 1.5',
    '1,000': 'written with a decimal point and no thousands separator: 1000 or 1',
    '1,234,567.5': 'written with a decimal point and no thousands separator: 1234567.5',
    '1.234,5': 'written with a decimal point and no thousands separator',
    $5: 'a number without currency signs, letters or spaces',
    '5 EUR': 'a number without currency signs, letters or spaces',
    much: 'a number, such as 12.50',
    '': 'a number, such as 12.50',
    '1.': 'a number, such as 12.50',
    '-1': '0 or more',
    '1.2345678': 'a number with at most six decimals',
    '99000000000': 'at most 8,500,000,000',
  })) {
    const read = () => readAmount('The limit', typed, 'spending_limit');
    t.same(refusal(read), [`The limit must be ${words}.`, 'spending_limit'], typed);
  }
});

t.test('whole numbers are read from 1 to the most, and others are refused', async (t) => {
  const read = (typed: string) =>
    readWhole('The limit', typed, 'rpm_limit', 100_000, 'Leave empty for none.');
  t.same([read('1'), read(' 60 '), read('100000')], [1, 60, 100_000]);
  for (const [typed, words] of Object.entries({
    '0': '1 or more',
    '1,000': 'written without a thousands separator: 1000',
    "1'000": 'written without a thousands separator: 1000',
    '1 000': 'written without a thousands separator: 1000',
    '1.5': 'a whole number, such as 60',
    '-1': 'a whole number, such as 60',
    many: 'a whole number, such as 60',
    '100001': 'at most 100,000',
  })) {
    const faults = [`The limit must be ${words}. Leave empty for none.`, 'rpm_limit'];
    t.same(
      refusal(() => read(typed)),
      faults,
      typed,
    );
  }
});

t.test('a time goes into its field in local time and comes back, to the minute', async (t) => {
  const iso = '2031-02-03T03:05:00.000Z';
  t.match(toLocalInput(iso), /^2031-02-0[234]T\d\d:\d\d$/);
  t.equal(fromLocalInput(toLocalInput(iso)), iso);
  t.equal(toLocalInput(null), '');
  t.equal(fromLocalInput('soon'), undefined);
  t.equal(moment('2026-11-21T07:36:05Z', 'utc', true), '21 Nov 2026, 07:36:05');
  t.equal(moment('2026-11-21T07:36:05Z', 'utc'), '21 Nov 2026, 07:36');
  t.equal(dayName('2026-11-21'), '21 Nov');
});
