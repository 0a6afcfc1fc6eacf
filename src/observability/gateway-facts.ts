import type { GatewayFacts } from '../api/attention/operator-attention.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import type { PrometheusCallMetrics } from './metrics.ts';

/** State of the gateway that its operator may have to act on. Never rejects. */
export async function gatewayFacts(
  ledger: Pick<OpenLedger, 'check' | 'backlog' | 'drain'>,
  { unknownMembers }: Pick<PrometheusCallMetrics, 'unknownMembers'>,
): Promise<GatewayFacts> {
  const [{ faults, durabilityFaults }, backlog] = await Promise.all([
    ledger.check(),
    ledger.backlog().catch(() => undefined),
  ]);
  return {
    redisFaults: [...faults, ...durabilityFaults],
    journal: backlog && { ...backlog, refused: ledger.drain.refused },
    unknownMembers,
  };
}
