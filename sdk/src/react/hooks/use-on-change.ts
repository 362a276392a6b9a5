import { useEffect, useRef } from 'react';

/** Calls `onChange` after a render if `key` has changed since the previous render. */
export function useOnChange(key: string, onChange: () => void): void {
  const last = useRef(key);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    onChange();
  }, [key]);
}
