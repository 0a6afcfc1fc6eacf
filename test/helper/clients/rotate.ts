import type { RotatedKeyView } from '../../../src/api/keys/key-view.ts';
import type { InProcessGateway } from '../start/gateway-in-process.ts';
import type { GatewayProcess } from '../start/gateway-process.ts';
import { apiOf } from './api.ts';

/** Rotates a key, using a managing key of its account. Rejects if the gateway refuses. */
export async function rotate(
  gateway: Pick<InProcessGateway | GatewayProcess, 'api'>,
  manager: string,
  keyId: number,
  graceS: number,
): Promise<RotatedKeyView> {
  const path = `/api/keys/${keyId}/rotate/`;
  const { status, body } = await apiOf(gateway, manager).post<RotatedKeyView>(path, {
    grace_seconds: graceS,
  });
  if (status !== 200) throw new Error(`the key was not rotated: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Status of a call of one credit. */
export async function statusOf(
  gateway: Pick<InProcessGateway | GatewayProcess, 'chat'>,
  key: string,
): Promise<number> {
  const answer = await gateway.chat(key);
  await answer.arrayBuffer();
  return answer.status;
}
