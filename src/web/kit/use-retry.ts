import { useEffect, useState } from 'preact/hooks';

const RETRY_MS = 3000;

/** Returns a number that grows while a read has failed; an effect that depends on it reads again. */
export function useRetry(hasFailed: boolean): number {
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!hasFailed) return undefined;
    const timer = setInterval(() => setTries((count) => count + 1), RETRY_MS);
    return () => clearInterval(timer);
  }, [hasFailed]);
  return tries;
}
