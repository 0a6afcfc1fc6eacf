import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'tap';
import { makeOwner } from '../../helper/clients/owner.ts';
import { startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../../helper/start/gateway-process.ts';

/** The limit of open files for this process, and so for each of its children. */
const FILES = Number(execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || 1_024;
const SOCKETS = Math.max(100, Math.min(10_000, FILES - 1_000));
const AT_ONCE = 200;
const HEAD_MS = 15_000;

test(`${SOCKETS} idle sockets: calls are answered, and each is closed when its time is up`, {
  timeout: 300_000,
}, async (t) => {
  const provider = await startScriptedProvider({ record: true });
  t.teardown(() => provider.close());
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url));
  const owner = await makeOwner(gateway, 1_000);
  const { hostname, port } = new URL(gateway.url);
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const open = async () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
  };
  while (sockets.length < SOCKETS) {
    await Promise.all(Array.from({ length: AT_ONCE }, open));
    // Once a later connection is served, the gateway has accepted all earlier ones. The system would drop connections
    // that a busy gateway does not accept in time, and their clients would never know.
    const [answer] = await once(get(`${gateway.url}/healthz`, { agent: false }), 'response');
    answer.resume();
  }
  const closed = sockets.map((socket) => socket.closed || once(socket.resume(), 'close'));
  const startedAt = performance.now();
  t.equal((await gateway.chat(owner.key)).status, 200, 'while they are open');
  t.equal((await fetch(`${gateway.url}/readyz`)).status, 200);
  await Promise.all(closed);
  t.ok(performance.now() - startedAt < 4 * HEAD_MS, 'server.headTimeoutMs, and some for a loaded machine');
  t.equal((await gateway.chat(owner.key)).status, 200, 'when they are gone');
  t.equal(provider.requests.length, 2);
});
