import { test } from 'tap';
import { NO_CALL_LIMITS } from '../../../src/domain/call-limits.ts';
import { allLimits, limitRefusal, longestWait } from '../../../src/gateway/limits.ts';

test('a call that waits behind others without a known wait is refused by one of its limits', async (t) => {
  const all = allLimits({
    key: NO_CALL_LIMITS,
    account: { rpmLimit: 1, tpmLimit: null, maxParallelRequests: 4 },
  });
  t.same(
    all.map(({ owner, name, limit }) => [owner, name, limit]),
    [
      ['account', 'rpm_limit', 1],
      ['account', 'max_parallel_requests', 4],
    ],
  );
  const limit = longestWait(all);
  if (!limit) return t.fail('no limit');
  t.match(limitRefusal(limit), {
    code: 'rate_limit_exceeded',
    message: "This account's rpm_limit of 1 request a minute has been reached; try again in 1 s.",
  });
});

test('nothing has the longest wait where there is no limit', async (t) => {
  t.equal(longestWait(allLimits({ key: NO_CALL_LIMITS, account: NO_CALL_LIMITS })), undefined);
});
