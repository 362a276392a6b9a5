import { useEffect, useRef } from 'react';

/** The last value that there was, as long as it is of the same thing. */
export function useLast<Value>(value: Value | undefined, of: string): Value | undefined {
  const last = useRef<{ of: string; value: Value } | null>(null);
  useEffect(() => {
    if (value !== undefined) last.current = { of, value };
  }, [value, of]);
  return value ?? (last.current?.of === of ? last.current.value : undefined);
}
