import { test } from 'tap';
import { type CallLine, CallLog } from '../../../src/gateway/record/call-log.ts';
import { until } from '../../helper/check/until.ts';

const LINE: CallLine = {
  reqId: 'req_1',
  accountId: 1,
  keyId: 2,
  model: 'flat',
  endpoint: '/v1/chat/completions',
  status: 402,
  code: 'insufficient_credits',
  upstream: null,
  upstreamStatus: null,
  ms: 1,
};

function logOf(logged: 'failed' | 'all' | 'none') {
  const lines: { level: string; line: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (line: object, message: string) => {
    lines.push({ level, line: { ...line }, message });
  };
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { log: new CallLog(log, logged), lines };
}

function refuse(log: CallLog, line: CallLine): void {
  log.refused(line.accountId, line.code ?? '', () => line);
}

test('of one account and code five lines a second, then their number', async (t) => {
  const { log, lines } = logOf('failed');
  for (let call = 0; call < 12; call++) refuse(log, { ...LINE, reqId: `req_${call}`, keyId: call });
  refuse(log, { ...LINE, code: 'model_not_found' });
  refuse(log, { ...LINE, accountId: 2, keyId: 3 });
  t.equal(lines.length, 7);
  await until('the number of the others', () => lines.length > 7);
  t.match(lines.slice(7), [{ level: 'info', line: { reqId: 'req_5', keyId: 5, repeated: 7 } }]);
});

test('failures of a provider are warnings, other ends are not', (t) => {
  const { log, lines } = logOf('failed');
  log.failed({ ...LINE, status: 502, upstream: 'openai', upstreamStatus: 401 }, true);
  log.failed({ ...LINE, status: 499, code: null }, false);
  t.match(lines, [
    { level: 'warn', message: 'call failed', line: { upstreamStatus: 401 } },
    { level: 'info', message: 'call failed', line: { status: 499 } },
  ]);
  t.end();
});

test('LOG_CALLS=none writes no line, and all writes those of complete calls too', (t) => {
  const none = logOf('none');
  refuse(none.log, LINE);
  none.log.failed(LINE, true);
  t.same(none.lines, []);
  t.equal(none.log.hasAll, false);
  const all = logOf('all');
  t.equal(all.log.hasAll, true);
  all.log.completed({ ...LINE, status: 200, code: null });
  t.match(all.lines, [{ level: 'info', message: 'call completed' }]);
  t.end();
});
