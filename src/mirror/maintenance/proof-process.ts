// Entry of the process that checks the proof of a mirror, see proof.ts. Reads one consistent state on a connection of its own.
import { explaining } from '../explain.ts'
import { openReader } from '../open.ts'
import { judgeWalks, type ProofRequest, type ProofVerified } from './proof.ts'
import { answerOnce } from './statement-process.ts'

answerOnce(({ path }: ProofRequest) => explaining(path, () => verify(path)))

function verify(path: string): ProofVerified {
  const db = openReader(path)
  try {
    db.exec('BEGIN')
    return { path, ...judgeWalks(db) }
  } finally {
    db.close()
  }
}
