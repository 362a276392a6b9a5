import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startMix } from './mix.ts';
import { barOf, type Result } from './result.ts';
import { ratios, spreadOf } from './statistics.ts';

const RATE = 400;
const SECONDS = 8;
const ROUNDS = 5;

/**
 * Measures how much the CPU time per request grows if 1% of the requests are traced. Rounds with and without tracing
 * alternate.
 */
export async function run(): Promise<Result> {
  let spans = 0;
  const collector = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    spans += text.split('"spanId"').length - 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const collectorUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const mixes = { without: await startMix(), with: await startMix({ collectorUrl }) };
  const measured: Record<keyof typeof mixes, number[]> = { without: [], with: [] };
  try {
    for (let round = 0; round <= ROUNDS; round++)
      for (const name of ['without', 'with'] as const) {
        const { cpuMicros, acceptedPerSecond } = await mixes[name].measure({ seconds: SECONDS, rate: RATE });
        // The first round is a warm-up.
        if (round > 0) measured[name].push(cpuMicros / (acceptedPerSecond * SECONDS));
      }
  } finally {
    await mixes.without.stop();
    await mixes.with.stop();
    collector.closeAllConnections();
    collector.close();
  }
  return {
    name: 'Traces: processor time per request of the mix with 1% sampled, relative to none',
    bars: [barOf('processor time', ratios(measured.with, measured.without), { max: 1.03 })],
    figures: {
      'CPU microseconds per request, without': spreadOf(measured.without),
      'CPU microseconds per request, with': spreadOf(measured.with),
      spans: { exported: spans },
    },
  };
}
