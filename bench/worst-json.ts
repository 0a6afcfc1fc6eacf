import { readJson } from '../src/gateway/request/json/json-reader.ts';
import { InspectedNames } from '../src/gateway/request/members.ts';
import { WORST_SHAPES, worstJson } from '../test/helper/fixtures/worst-json.ts';

/**
 * CPU time of JSON.parse for the largest body of each bad shape, up to 6 MiB, that the bounds of json-counts.ts accept.
 * Run `node bench/worst-json.ts`.
 */
const MOST_BYTES = 6 * 2 ** 20;

function largestTaken(shape: (typeof WORST_SHAPES)[number]): Buffer {
  for (let bytes = MOST_BYTES; ; bytes *= 0.9) {
    const body = worstJson(shape, bytes);
    try {
      readJson(body, new InspectedNames());
      return body;
    } catch {}
  }
}

function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

for (const shape of WORST_SHAPES) {
  const body = largestTaken(shape);
  const read = readJson(body, new InspectedNames());
  const parse = () => {
    try {
      return read.parse();
    } catch {
      return undefined;
    }
  };
  const measuring = Math.min(
    ...Array.from({ length: 3 }, () => cpuMs(() => readJson(body, new InspectedNames()))),
  );
  const times = Array.from({ length: 5 }, () => cpuMs(parse)).sort((a, b) => a - b);
  console.log(
    `${shape.padEnd(44)}${(body.length / 1e6).toFixed(2)} MB  counted in ${measuring.toFixed(1)} ms, ` +
      `parsed in ${times[2]?.toFixed(1)} ms (${times[0]?.toFixed(1)} to ${times[4]?.toFixed(1)})`,
  );
}
