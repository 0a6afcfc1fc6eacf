import { isDeepStrictEqual } from 'node:util';
import type { Redis } from 'ioredis';
import { test } from 'tap';
import {
  MAX_CALL_LIMIT,
  msUntilFull,
  msUntilRoom,
  REFILL_MS,
  remaining,
} from '../../src/domain/call-limits.ts';
import { limitStatesIn } from '../../src/ledger/limits-text.ts';
import { scriptText } from '../../src/ledger/redis/scripts.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/**
 * Runs the code that the scripts share, at a given moment. Steps are words; the reply says whether each call was
 * admitted, then has the states.
 */
const SCRIPT = `${scriptText('int.inc')}${scriptText('call-limits.inc')}
local limits = callLimits(tonumber(ARGV[1]))
local replies = {}
local step = {
  put = function(text, version, open)
    limits.put(KEYS[1], string.gsub(text, ',', ' '), tonumber(version), function() return tonumber(open) end)
  end,
  remove = function(version) limits.put(KEYS[1], '', tonumber(version)) end,
  take = function(tokens)
    local state = limits.of(KEYS[1])
    local hasRoom = limits.hasRoom(state, tonumber(tokens))
    if hasRoom then limits.take(state, tonumber(tokens)) end
    replies[#replies + 1] = hasRoom and 1 or 0
  end,
  settle = function(version, tokens, more)
    limits.release('nothing', KEYS[1], '0 0 1 1 0 0 ' .. version .. '/' .. tokens .. '/1/0 text', tonumber(more), 0)
  end,
  cancel = function(version, tokens, admittedAt)
    limits.giveBack('nothing', KEYS[1], '0 0 1 1 ' .. (admittedAt or ARGV[1]) .. ' 0 ' .. version .. '/' .. tokens .. '/1/0 text')
  end,
}
for i = 2, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[i], '%S+') do words[#words + 1] = word end
  step[words[1]](unpack(words, 2))
end
limits.write()
replies[#replies + 1] = limits.states(limits.of(KEYS[1]), false)
return replies
`;

async function at(redis: Redis, now: number, ...steps: string[]) {
  const replies = (await redis.eval(SCRIPT, 1, 'limited', now, ...steps)) as (number | string)[];
  const { key } = limitStatesIn(String(replies.pop()));
  return { isIn: replies.map((reply) => reply === 1), ...key };
}

test('the arithmetic of limits of calls', async (t) => {
  const redis = await (await startRedis(t)).connect();
  t.beforeEach(async () => {
    await redis.flushall();
  });
  const START = 1_800_000_000_000;
  const run = (ms: number, ...steps: string[]) => at(redis, START + ms, ...steps);

  await t.test(
    'a bucket is full at first, and one request comes back each limit-th of a minute, to the ms',
    async (t) => {
      t.match(await run(0, 'put 3,-,- 1 0', 'take 0', 'take 0', 'take 0', 'take 0'), {
        isIn: [true, true, true, false],
        requests: { limit: 3, debt: 180_000 },
        tokens: undefined,
        parallel: undefined,
      });
      t.match(await run(19_999, 'take 0'), { isIn: [false] });
      t.match(await run(20_000, 'take 0', 'take 0'), { isIn: [true, false], requests: { debt: 180_000 } });
      t.match(await run(60_000, 'take 0', 'take 0', 'take 0'), { isIn: [true, true, false] });
      t.match(await run(1e12), { requests: { debt: 0 } });
    },
  );

  await t.test(
    'a limit that does not divide a minute loses nothing, however often it is looked at',
    async (t) => {
      t.match(await run(0, 'put 7,-,- 1 0', ...Array(7).fill('take 0')), { requests: { debt: 420_000 } });
      for (let ms = 1; ms <= 8_571; ms += 857) t.match(await run(ms, 'take 0'), { isIn: [false] });
      t.match(await run(8_571, 'take 0'), { isIn: [false] }, '7 × 8,571 is 3 short of 60,000');
      t.match(await run(8_572, 'take 0'), { isIn: [true], requests: { debt: 420_000 - 4 } });
    },
  );

  await t.test('a call takes its tokens, at most the capacity', async (t) => {
    t.match(await run(0, 'put -,1000,- 1 0', 'take 600', 'take 600', 'take 400'), {
      isIn: [true, false, true],
      tokens: { limit: 1_000, debt: 60_000_000 },
    });
    t.match(await run(59_999, 'take 5000', 'take 999'), { isIn: [false, true] });
    t.match(await run(59_999 + 59_941, 'take 5000'), { isIn: [true], tokens: { debt: 60_000_000 } });
  });

  await t.test(
    'settling takes the rest or gives back; below 0 of room, never above the capacity',
    async (t) => {
      await run(0, 'put -,1000,- 1 0', 'take 1000');
      const over = await run(0, 'settle 1 1000 500');
      t.match(over, { tokens: { debt: 90_000_000 } });
      t.equal(over.tokens && remaining(over.tokens), 0);
      t.equal(over.tokens && msUntilRoom(over.tokens, 1), 30_060);
      t.match(await run(30_000, 'take 0', 'take 1'), { isIn: [true, false] });
      t.match(await run(30_060, 'take 1'), { isIn: [true] });
      t.match(await run(30_060, 'settle 1 1000 -5000'), { tokens: { debt: 0 } });
      t.match(await run(30_060, 'settle 1 1 900000000000'), { tokens: { debt: Number.MAX_SAFE_INTEGER } });
    },
  );

  await t.test('cancelling gives back request, tokens and slot, less the drained part', async (t) => {
    t.match(await run(0, 'put 2,100,1 1 0', 'take 30', 'take 1'), {
      isIn: [true, false],
      parallel: { open: 1 },
    });
    t.match(await run(0, 'cancel 1 30'), {
      requests: { debt: 0 },
      tokens: { debt: 0 },
      parallel: { limit: 1, open: 0 },
    });
    await run(0, 'take 30');
    t.match(await run(60_000, 'cancel 1 30'), { requests: { debt: 0 }, tokens: { debt: 0 } });
  });

  await t.test('a late cancellation gives back only the part that has not refilled', async (t) => {
    t.match(await run(0, 'put 60,-,- 1 0', 'take 0'), { isIn: [true] });
    const { isIn } = await run(1_000, ...Array.from({ length: 61 }, () => 'take 0'));
    t.equal(isIn.filter(Boolean).length, 60);
    t.match(
      await run(1_000, `cancel 1 0 ${START}`, 'take 0'),
      { isIn: [false] },
      'it was refilled after a second',
    );
    t.match(await run(1_000, `cancel 1 0 ${START + 1_000}`, 'take 0'), { isIn: [true] });
  });

  await t.test('a call of before the limit gives nothing back and corrects nothing', async (t) => {
    t.match(await run(0, 'put 2,100,5 7 3', 'take 30'), { parallel: { limit: 5, open: 4 } });
    const before = { requests: { debt: 60_000 }, tokens: { debt: 1_800_000 } };
    t.match(await run(0, 'settle 6 40 -20'), { ...before, parallel: { open: 3 } });
    t.match(await run(0, 'cancel 6 40'), { ...before, parallel: { open: 2 } });
    t.match(await run(0, 'settle 7 30 -20'), { tokens: { debt: 600_000 }, parallel: { open: 1 } });
  });

  await t.test('a changed limit keeps its usage, drained at the old rate until then', async (t) => {
    await run(0, 'put 60,-,2 1 0', ...Array(2).fill('take 0'));
    t.match(await run(500, 'put 6,10,2 2 9'), {
      requests: { limit: 6, debt: 120_000 - 500 * 60 },
      tokens: { limit: 10, debt: 0 },
      parallel: { limit: 2, open: 2 },
    });
    t.match(await run(1_500), { requests: { debt: 90_000 - 1_000 * 6 } });
    t.match(await run(1_500, 'put -,10,- 3 9'), {
      requests: undefined,
      tokens: { limit: 10 },
      parallel: undefined,
    });
    t.same((await redis.hkeys('limited')).sort(), ['lim', 'tk']);
    t.match(await run(1_600, 'put 6,-,4 4 5'), {
      requests: { debt: 0 },
      tokens: undefined,
      parallel: { open: 5 },
    });
    t.match(await run(1_700, 'remove 5'), { requests: undefined, parallel: undefined });
    t.equal(await redis.exists('limited'), 0);
  });

  await t.test('a clock that was set back refills nothing, and the bucket goes on by it', async (t) => {
    await run(0, 'put 2,-,- 1 0', 'take 0');
    t.match(await run(-3_600_000, 'take 0', 'take 0'), { isIn: [true, false], requests: { debt: 120_000 } });
    t.match(await run(-3_600_000 + 30_000, 'take 0'), { isIn: [true] });
  });

  await t.test('the largest limit is counted exactly', async (t) => {
    const most = MAX_CALL_LIMIT;
    t.match(
      await run(0, `put ${most},${most},${most} 1 0`, `take ${most - 1}`, 'take 2', 'take 1', 'take 1'),
      {
        isIn: [true, false, true, false],
        tokens: { limit: most, debt: most * REFILL_MS },
        requests: { debt: 120_000 },
      },
    );
    t.match(await run(1), { tokens: { debt: most * REFILL_MS - most } });
    t.match(await run(59_999), { tokens: { debt: most } });
    t.match(await run(Number.MAX_SAFE_INTEGER - START), { tokens: { debt: 0 } });
  });

  await t.test(
    'over drawn schedules: exact, true about waits, and never more in any window than the bucket allows',
    async (t) => {
      for (let seed = 1; seed <= 12; seed++) t.same(await faultsOf(seed), [], `seed ${seed}`);
    },
  );

  /**
   * Draws calls at random moments, and compares the script with a bucket in exact BigInt fractions that knows no debt.
   * Returns the differences.
   */
  async function faultsOf(seed: number): Promise<string[]> {
    await redis.flushall();
    const faults: string[] = [];
    const expect = (isSo: boolean, what: string) => {
      if (!isSo) faults.push(what);
    };
    const draw = drawer(seed);
    const limit = [1, 2, 7, 60, 999, MAX_CALL_LIMIT][draw(6)] as number;
    const tokens = [1, 13, 1_000, 77_777][draw(4)] as number;
    let now = START;
    const starts: number[] = [];
    const used: { at: number; tokens: number }[] = [];
    // Room in the bucket, times 60,000.
    let [left, tokensLeft] = [BigInt(limit) * 60_000n, BigInt(tokens) * 60_000n];
    await at(redis, now, `put ${limit},${tokens},- 1 0`);
    for (let call = 0; call < 250; call++) {
      const gap = [0, 1, draw(50), draw(2_000), Math.ceil(REFILL_MS / limit), draw(90_000)][
        draw(6)
      ] as number;
      now += gap;
      left = least(BigInt(limit) * 60_000n, left + BigInt(gap) * BigInt(limit));
      tokensLeft = least(BigInt(tokens) * 60_000n, tokensLeft + BigInt(gap) * BigInt(tokens));
      const asks = draw(4) === 0 ? tokens * 2 : draw(tokens + 1);
      const takes = Math.min(asks, tokens);
      const isIn = left >= 60_000n && tokensLeft >= BigInt(takes) * 60_000n;
      const state = await at(redis, now, `take ${asks}`);
      expect(isDeepStrictEqual(state.isIn, [isIn]), `call ${call} was ${isIn ? 'refused' : 'let in'}`);
      if (isIn) {
        starts.push(now);
        used.push({ at: now, tokens: takes });
        left -= 60_000n;
        tokensLeft -= BigInt(takes) * 60_000n;
      } else if (state.requests && state.tokens) {
        const wait = Math.max(msUntilRoom(state.requests, 1), msUntilRoom(state.tokens, asks));
        const probe = async (ms: number) =>
          (await redis.copy('limited', 'probe', 'REPLACE')) && (await hasRoomAt(now + ms, asks));
        expect((await probe(wait)) === true, `call ${call} does not pass after its wait of ${wait} ms`);
        expect((await probe(wait - 1)) === false, `call ${call} passes before its wait of ${wait} ms`);
      }
      if (!state.requests || !state.tokens) throw new Error('there is no state');
      const { requests, tokens: ofTokens } = state;
      expect(requests.debt === limit * 60_000 - Number(left), `call ${call}: debt of ${requests.debt}`);
      expect(ofTokens.debt === tokens * 60_000 - Number(tokensLeft), `call ${call}: owes ${ofTokens.debt}`);
      expect(msUntilFull(ofTokens) <= REFILL_MS, `call ${call}: full after more than ${REFILL_MS} ms`);
    }
    let sums = 0;
    for (let from = 0; from < starts.length; from++) {
      sums = 0;
      for (let to = from; to < starts.length; to++) {
        const window = (starts[to] as number) - (starts[from] as number);
        sums += (used[to] as { tokens: number }).tokens;
        if (to - from + 1 > limit + (limit * window) / 60_000)
          faults.push(`${to - from + 1} calls in ${window} ms`);
        if (sums > tokens + (tokens * window) / 60_000) faults.push(`${sums} tokens in ${window} ms`);
      }
    }
    expect(starts.length > 20, `only ${starts.length} calls were let in`);
    return faults;
  }

  async function hasRoomAt(now: number, tokens: number): Promise<boolean> {
    const [reply] = (await redis.eval(SCRIPT, 1, 'probe', now, `take ${tokens}`)) as [number];
    return reply === 1;
  }
});

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** Draws integers from 0 to below `n`, by a linear congruential generator. */
function drawer(seed: number) {
  let state = seed * 2_654_435_761;
  return (n: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}
