import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { test } from 'tap';
import { LOOPBACK_CERTIFICATE } from '../helper/fixtures/test-certificate.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { mediaCatalog } from '../helper/start/media-gateway.ts';

test('answers over TLS pass byte for byte, from a few bytes to megabytes, after a 100 that nobody asked for', async (t) => {
  const sizes = [1, 1_000, 16_383, 16_384, 16_385, 100_000, 5_000_000];
  const answers = sizes.map((size) => randomBytes(size));
  const provider = createServer(LOOPBACK_CERTIFICATE, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const answer = answers[Number(/voice-(\d+)/.exec(body)?.[1])] as Buffer;
    response.writeContinue();
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(answer);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  t.teardown(() => provider.close());
  setDefaultCACertificates([...getCACertificates('default'), LOOPBACK_CERTIFICATE.cert]);
  const catalog = mediaCatalog(`https://localhost:${(provider.address() as AddressInfo).port}`);
  const { url, account } = await startGatewayInProcess(t, { config: { catalog } });
  const { key } = await account({ credits: 10_000 });
  const heard = await Promise.all(
    sizes.map(async (_size, index) => {
      const answer = await fetch(`${url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'voice', input: 'Hello', voice: `voice-${index}` }),
      });
      return Buffer.from(await answer.arrayBuffer());
    }),
  );
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  t.same(heard.map(digest), answers.map(digest));
});
