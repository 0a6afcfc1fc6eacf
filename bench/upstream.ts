import {
  type Behavior,
  type ReceivedRequest,
  startScriptedProvider,
} from '../test/helper/stand-ins/scripted-provider.ts';
import { BEHAVIOR_HEADER, UPSTREAM_CREDENTIAL } from './wire.ts';

let gatewayCalls = 0;

function behave({ url, headers }: ReceivedRequest): Behavior | undefined {
  if (url === '/gateway-calls') return { body: { calls: gatewayCalls } };
  if (headers.authorization === `Bearer ${UPSTREAM_CREDENTIAL}`) gatewayCalls += 1;
  const told = headers[BEHAVIOR_HEADER];
  return typeof told === 'string' ? (JSON.parse(told) as Behavior) : undefined;
}

const provider = await startScriptedProvider({ behave, record: false, port: Number(process.argv[2]) });
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ url: provider.url })}\n`);
