import { useEffect, useRef } from 'react';

/** Returns `value` or, while `value` is undefined, the last defined value for the same `key`. */
export function useLastDefined<Value>(value: Value | undefined, key: string): Value | undefined {
  const last = useRef<{ key: string; value: Value } | null>(null);
  useEffect(() => {
    if (value !== undefined) last.current = { key, value };
  }, [value, key]);
  return value ?? (last.current?.key === key ? last.current.value : undefined);
}
