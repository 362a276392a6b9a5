import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files, slowest first. They start first, so that no worker has to run a slow file at the end.
 */
const SLOWEST = [
  'demo/test/journey.slow.test.ts',
  'service/test/guides.slow.test.ts',
  'service/test/docs-pages.slow.test.ts',
  'sandbox/src/postgres/server.slow.test.ts',
  'service/test/pages.slow.test.ts',
  'sdk/test/react/checkouts.slow.test.ts',
  'demo/test/start.slow.test.ts',
  'service/test/serve.slow.test.ts',
  'sdk/test/react/components.slow.test.ts',
  'service/src/domain/tokenized/crash.slow.test.ts',
];

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = SLOWEST.indexOf(relative(this.ctx.config.root, moduleId));
      return index === -1 ? SLOWEST.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
