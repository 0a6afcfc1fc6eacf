import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import {
  createVideo,
  FILM,
  placesOf,
  refundedOnce,
  startFailing,
  statusOf,
} from '../helper/clients/video-jobs.ts';
import { tollgate } from '../helper/start/command.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

for (const book of ['SQLite', 'PostgreSQL']) {
  test(`gateways killed amid the polls of failed videos refund each once (${book})`, async (t) => {
    const url = await startFailing(t);
    const place = book === 'SQLite' ? makePlace(t, url, {}, FILM) : (await placesOf(t, url))();
    let gateway = await startGatewayProcess(t, place);
    const owner = await makeOwner(gateway, 1_000);
    const paths: string[] = [];
    for (let round = 0; round < 2; round++) {
      const fresh = await Promise.all(Array.from({ length: 12 }, () => createVideo(gateway, owner)));
      paths.push(...fresh);
      let answers = 0;
      const killed = gateway;
      const polls = fresh.flatMap((path) =>
        Array.from({ length: 4 }, async () => {
          const answered = await statusOf(killed, owner, path).catch(() => undefined);
          // Another moment in each round.
          if (answered === 200 && ++answers === 1 + round * 8) process.kill(killed.pid, 'SIGKILL');
        }),
      );
      await Promise.all(polls);
      await killed.ended;
      gateway = await startGatewayProcess(t, place);
      // A client without an answer polls again, and the refund of the lost poll exists already.
      for (const path of fresh) {
        await until('a poll to be answered', async () => (await statusOf(gateway, owner, path)) === 200);
      }
    }
    await refundedOnce(t, gateway, owner, paths.length, 1_000);
    t.match(await tollgate(['reconcile'], place.env), {
      code: 0,
      output: 'accounts checked: 1, differences: 0\n',
    });
  });
}
