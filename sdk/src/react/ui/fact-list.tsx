import type { ReactNode } from 'react';
import { useUi } from './ui.tsx';

export type Fact = readonly [term: string, value: ReactNode];

/** A description list of terms and values. */
export function FactList({ className, facts }: { className: string; facts: readonly Fact[] }) {
  const { cx } = useUi();
  return (
    <dl className={cx(className)}>
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
