/*
 * set.h
 *		Members of a heat whose pairs share one reference: its process, its blocks, its inputs.
 */
#ifndef CUDAL1_SET_H
#define CUDAL1_SET_H

#include "supervisor/timing/timing.h"

/* A heat of one, and any member by itself, is a set of one, which shares nothing */
struct Set
{
	int			n;
	/* the first owns the memory of blocks, which the others borrow */
	Rounds	   *of[HEAT_MAX];
	Half	   *half[HEAT_MAX];
};

extern Set	set_of_one(Rounds *s, Half *half);

/* still measured */
extern bool set_is_left(const Rounds *s);

/* the same, and it has not left the set to go on by itself */
extern bool set_has(const Set *set, int place);

/* makes the member of this place current, or what is done for all of them; false: it has left */
extern bool set_enter(const Set *set, int place);
extern void set_enter_all(const Set *set);

/*
 * after something has gone wrong: ends the processes of members that have left; false: the pair
 * can't go on
 */
extern bool set_goes_on(const Set *set);

/* lends memory, and what has been found out of the reference, to the others */
extern void set_lend(const Set *set);
/* what was lent is not the borrowers' to free */
extern void set_take_back(const Set *set);

/*
 * Orders of rounds: in each the places from 1 on, and the reference as 0. Rounds 2k and 2k + 1 are
 * each other's reverse, so that each side goes before and after each other equally often. A caller
 * makes rounds in random order, because who came before must not tell who comes next.
 */
extern uint8_t *set_orders(const Set *set, uint32_t rounds);

/* the processes of all members, whose ends overlap */
extern void set_end_candidates(const Set *set);

/*
 * judge.c: after a half's rounds, whether it is to be made again; false after conclude(), or where
 * the set is dissolved. `alone`: the reference's seconds a run where it started first, or the list
 * for them
 */
extern bool judge_half(Set *set, int half_number, Values *alone, bool *disturbed);

/* together.c */
/* members still measured that can share a reference, from the first on; false: there is none */
extern bool together_choose(Set *set, Rounds *members, int n);

/* a pair of all members, of which those that have none leave the set; false: none has one */
extern bool together_pair(Set *set);

/*
 * frees a member's memory where others of its heat need theirs in turn, because a generator fills
 * one arena at a time
 */
extern void together_spare_memory(Rounds *s);

#endif							/* CUDAL1_SET_H */
