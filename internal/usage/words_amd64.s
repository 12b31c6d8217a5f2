#include "textflag.h"

// func indexPairs(p []byte, first, third byte) int
TEXT ·indexPairs(SB), NOSPLIT, $0-40
	MOVQ         p_base+0(FP), SI
	MOVQ         p_len+8(FP), CX
	MOVQ         SI, DI
	LEAQ         -39(SI)(CX*1), R8 // where the last block begins
	MOVQ         $0x75, AX         // u
	MOVQ         AX, X8
	VPBROADCASTB X8, Y8
	MOVQ         $0x61, AX         // a
	MOVQ         AX, X9
	VPBROADCASTB X9, Y9
	MOVQ         $0x5c, AX         // a backslash
	MOVQ         AX, X10
	VPBROADCASTB X10, Y10
	MOVQ         $0x30, AX         // 0
	MOVQ         AX, X11
	VPBROADCASTB X11, Y11
	MOVQ         $0x6e, AX         // n
	MOVQ         AX, X14
	VPBROADCASTB X14, Y14
	VPBROADCASTB first+24(FP), Y12
	VPBROADCASTB third+25(FP), Y13

loop:
	VMOVDQU   (SI), Y0
	VMOVDQU   2(SI), Y1
	VPCMPEQB  Y0, Y8, Y2
	VPCMPEQB  Y1, Y9, Y3
	VPAND     Y2, Y3, Y2
	VPCMPEQB  7(SI), Y14, Y7
	VPANDN    Y2, Y7, Y2
	VPCMPEQB  Y0, Y10, Y4
	VPCMPEQB  Y1, Y11, Y5
	VPAND     Y4, Y5, Y4
	VPCMPEQB  Y0, Y12, Y6
	VPCMPEQB  Y1, Y13, Y7
	VPAND     Y6, Y7, Y6
	VPOR      Y2, Y4, Y2
	VPOR      Y2, Y6, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNZ       found
	CMPQ      SI, R8
	JEQ       none
	ADDQ      $32, SI
	CMPQ      SI, R8
	JBE       loop
	MOVQ      R8, SI // the last block overlaps the one before
	JMP       loop

found:
	BSFL AX, AX
	SUBQ DI, SI
	ADDQ SI, AX
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET
