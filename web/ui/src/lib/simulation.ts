// What readers are told about sessions that simulated models played.

import { bare } from "./format";

/** What is said of sessions with simulated models; null where there are none. */
export function simulationOf({ counted, total, simulated }: { counted: number; total: number; simulated: number }): string | null {
  if (simulated === 0) return null;
  const isOne = simulated === 1;
  const rest = `${isOne ? "was" : "were"} played by SIMULATED models: ${isOne ? "its" : "their"} numbers say nothing about real ones.`;
  if (total === 1) return `This session ${rest}`;
  const those = counted < total ? "the sessions counted so far" : "these sessions";
  return `${simulated === counted && !isOne ? "All" : bare(simulated)} of ${those} ${rest}`;
}
