import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files, slowest first. They start first, so that no worker has to run a slow file at the end.
 */
const SLOWEST = [
  'demo/test/journey.test.ts',
  'service/test/guides.test.ts',
  'service/test/docs-pages.test.ts',
  'service/src/db/embedded.test.ts',
  'service/test/pages.test.ts',
  'sdk/test/react/checkouts.test.ts',
  'demo/test/start.test.ts',
  'service/test/serve.test.ts',
  'sdk/test/react/components.test.ts',
  'service/src/tokenized/crash.test.ts',
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
